from hypothesis import settings

# The clock decides nothing: beside other processes an example of a millisecond may take a second.
settings.register_profile("whatever-the-clock", deadline=None)
settings.load_profile("whatever-the-clock")
