"""What a CustomResourceDefinition's schema says of its objects.

Law: `lws.sandbox.schema.structural` is the door; nobody else calls in here.
"""
