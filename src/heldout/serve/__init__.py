"""Worlds for agents of others: one incident over MCP or HTTP, served by a process of its own.

The serving process holds one world and one alert. It imports nothing that could read a truth, and
where the kernel offers Landlock it can open no file of any other incident either. What was asked
and what was submitted goes over a pipe to the process that started it, which judges afterwards.
"""
