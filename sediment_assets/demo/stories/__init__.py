"""What happened at acme: two repositories over two weeks, and the Sessions that worked on them in the second one.

One function a Session, told in order of time for each repository. ``cases.py`` says what each is there to show.
"""
