"""What must hold after every write of the API server, told from outside.

Law: knows objects as the wire has them, who wrote them and when that was decided; nothing of how
the operator came to it. A rule speaks only where no news that was still on its way, and no fault of
the last moment, could have excused the write.
"""
