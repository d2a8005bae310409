#pragma once

// What the collective functions of message.h do, on any group and scope. `call` names the function.

namespace rma::armci {

struct Group;

/// `root` is a process.
void broadcast(Group& group, int scope, void* buffer, int len, int root, const char* call);

/// Who gets the result of a global operation.
enum class Receivers { all, first };
void combine(Group& group, int scope, void* x, int n, const char* op, int type, Receivers receivers,
             const char* call);

void select(Group& group, int scope, void* x, int n, const char* op, int type, bool contribute,
            const char* call);

void add_up(Group& group, void** pointers, int n, const char* call);

}  // namespace rma::armci
