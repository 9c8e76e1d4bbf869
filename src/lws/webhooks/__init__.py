"""AdmissionReview in, AdmissionReview out.

Law: decides nothing; admission does.
"""
