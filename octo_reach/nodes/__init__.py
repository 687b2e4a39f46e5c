"""The executables, and what they are wired from: thin, the rules stand in the model."""
