"""What makes an object of a built-in kind invalid, in the API server's words.

Law: a module per kind or part of one; a rule is a function from a defaulted object (and the old
one, if it is updated) to faults. No rule looks at another object. `kinds` says which kind has
which.
"""
