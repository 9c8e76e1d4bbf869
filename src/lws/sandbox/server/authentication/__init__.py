"""Who asks: users by token, tokens of service accounts, users in whose name others ask.

Law: says who somebody is, never what he may do; knows the store, and no other part of the server.
"""
