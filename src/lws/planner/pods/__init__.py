"""Plans for one group: restart policy, worker StatefulSet, Service (spec: pods.md section 2).

Law: pure; one module a policy.
"""
