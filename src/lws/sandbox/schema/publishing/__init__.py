"""OpenAPI documents, made from the generated tables and from definitions.

Law: `lws.sandbox.schema.openapi` is the door; nobody else calls in here.
"""
