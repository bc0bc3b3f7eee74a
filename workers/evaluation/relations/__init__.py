"""Compare what a claim and its evidence say of two things or two times: differences, changes, references and exceptions."""
