#pragma once

// The collective functions of message.h, for any group and scope. `call` is the name of the function.

namespace librma::armci {

struct Group;

/// Broadcasts from `root`, which is a process number.
void broadcast(Group& group, int scope, void* buffer, int len, int root, const char* call);

/// The processes that get the result of a global operation.
enum class Receivers { all, first };
void combine(Group& group, int scope, void* x, int n, const char* op, int type, Receivers receivers,
             const char* call);

void select(Group& group, int scope, void* x, int n, const char* op, int type, bool contribute,
            const char* call);

void add_up(Group& group, void** pointers, int n, const char* call);

}  // namespace librma::armci
