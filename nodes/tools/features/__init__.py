"""What products say they can do, and how it is set side by side."""
