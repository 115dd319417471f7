"""A model that obeys every instruction it reads, and counts of what that leads to."""
