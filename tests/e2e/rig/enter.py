"""enter.py ROOT USER WORDS...: becomes the program WORDS[0] of a folder, as a user without rights.

What a container runtime does last: the folder becomes the root, the user and the group change (0: they stay), and no capability
is left or can be had again. The program ends with the process that started this one.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 24, 38
_CAPABILITIES = 64  # More than there are; Linux refuses those that it does not know.


def main():
    root, user, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    libc = ctypes.CDLL(None, use_errno=True)
    os.chroot(root)
    os.chdir("/")
    if user:
        for capability in range(_CAPABILITIES):
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # A change of the user takes it away, so it comes last.
    os.execv(words[0], words)


main()
