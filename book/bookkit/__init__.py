"""The tools of the book: shared pieces of its chapters, and what builds and checks it."""
