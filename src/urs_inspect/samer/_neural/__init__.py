"""What needs torch: the transformers engine and the training of heads.

Nothing else imports this room.
"""
