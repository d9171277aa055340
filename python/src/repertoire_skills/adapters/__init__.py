"""Skills for agent frameworks. Each module needs its framework and none of the others.

An adapter shows the model what ``rep prompt`` shows, reads only files of active skills, and runs scripts in the sandbox.
It decides nothing: the engine knows which skills are active, trusted and valid, and which runs need confirmation.
"""
