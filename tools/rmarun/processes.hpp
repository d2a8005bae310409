#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace rmarun {

/// Returns all processes below this one in the process tree. If this process is a child subreaper
/// (PR_SET_CHILD_SUBREAPER), the list is complete: no process can leave the tree by losing its parent, in any
/// group or session.
std::vector<pid_t> descendants();

/// Returns a text such as "signal 9 (Killed)".
std::string describe_signal(int signal);

/// Returns why the system has not started a process or a thread, with the limits if one is reached.
std::string describe_refusal(int error);

/// Returns whether `pid`, which is not reaped yet, is ending: the system has decided its end, though
/// waitpid(2) may not report it for a while.
bool is_ending(pid_t pid);

/// Returns the state of a process as proc(5) names it, such as 'R', or 0 if the process does not exist any
/// more.
char process_state(pid_t pid);

/// Sends `signal` to every descendant. It may miss one that is just being created: repeat until none is left.
void signal_descendants(int signal);

/// Kills and reaps descendants until there are none.
void kill_descendants();

}  // namespace rmarun
