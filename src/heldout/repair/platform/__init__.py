"""What stands around the services: a clock, a database, a cache, a network, and their traffic.

All of it lives on this side of the pipe. A service can only ask; what a request took, how many
connections are open and which rows are left is counted here, so that code which lies about itself
changes nothing.
"""
