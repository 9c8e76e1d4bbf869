"""JSON patch, merge patch, strategic merge patch and server-side apply, by schema.

Law: pure; objects in, objects out.
"""
