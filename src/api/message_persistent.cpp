// Persistent sends and receives (rma/messages.h), and the start of persistent collectives
// (rma/collectives.h).

#include "api/message_call.hpp"
#include "api/runtime/persistent.hpp"
#include "collectives/schedules/schedules.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

using Kind = PersistentOperation::Kind;

std::uint64_t persistent_name(rma_persistent_t handle) { return reinterpret_cast<std::uintptr_t>(handle); }

Status invalid_persistent(rma_persistent_t handle) {
  return {RMA_ERR_ARGUMENT,
          text("{:#x} is no persistent operation, or was freed already", persistent_name(handle))};
}

void keep(Runtime& runtime, Kind kind, void* data, std::size_t bytes, int rank, int tag,
          std::uint32_t context, rma_message_info_t* info, rma_persistent_t* persistent) {
  const PersistentOperation& made = runtime.persistents->make([&](PersistentOperation& operation) {
    operation.kind = kind;
    operation.data = static_cast<std::byte*>(data);
    operation.bytes = bytes;
    operation.rank = rank;
    operation.tag = tag;
    operation.context = context;
    operation.info = info;
  });
  *persistent = persistent_handle(made.name);
}

rma_status_t send_init(const char* name, Kind kind, const void* src, std::size_t bytes, int rank, int tag,
                       std::uint32_t context, rma_persistent_t* persistent) {
  return call(name, rank, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(persistent, "persistent"));
    *persistent = nullptr;
    RMA_TRY(check_send(runtime, rank, tag, Blocking::yes, nullptr));
    RMA_TRY(check_buffer(src, bytes, "src"));
    keep(runtime, kind, const_cast<void*>(src), bytes, rank, tag, context, nullptr, persistent);
    return {};
  });
}

Status start(Runtime& runtime, rma_persistent_t persistent, rma_request_t* request) {
  RMA_TRY(check_request(request));
  PersistentOperation started(0);
  const bool known =
      runtime.persistents->with(persistent_name(persistent), [&](const PersistentOperation& it) {
        started.kind = it.kind;
        started.data = it.data;
        started.bytes = it.bytes;
        started.rank = it.rank;
        started.tag = it.tag;
        started.context = it.context;
        started.info = it.info;
        started.collective = it.collective;
        return true;
      });
  if (!known) return invalid_persistent(persistent);
  if (started.kind == Kind::collective) return runtime.schedules->start(started.collective, request);
  const MessageData data = MessageData::of({started.data, started.bytes});
  if (started.kind == Kind::receive) {
    return runtime.messages->receive(data,
                                     {.source = started.rank, .tag = started.tag, .context = started.context},
                                     started.info, request);
  }
  return runtime.messages->send(data, started.rank, {.context = started.context, .tag = started.tag},
                                started.kind == Kind::synchronous_send, request);
}

}  // namespace

extern "C" {

rma_status_t rma_send_init(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                           rma_persistent_t* persistent) {
  return send_init(__func__, Kind::send, src, bytes, rank, tag, context, persistent);
}

rma_status_t rma_ssend_init(const void* src, size_t bytes, int rank, int tag, uint32_t context,
                            rma_persistent_t* persistent) {
  return send_init(__func__, Kind::synchronous_send, src, bytes, rank, tag, context, persistent);
}

rma_status_t rma_recv_init(void* dst, size_t bytes, int source, int tag, uint32_t context,
                           rma_message_info_t* info, rma_persistent_t* persistent) {
  return call(__func__, source, bytes, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(persistent, "persistent"));
    *persistent = nullptr;
    RMA_TRY(check_wanted(runtime, source, tag));
    RMA_TRY(check_buffer(dst, bytes, "dst"));
    keep(runtime, Kind::receive, dst, bytes, source, tag, context, info, persistent);
    return {};
  });
}

rma_status_t rma_start(rma_persistent_t persistent, rma_request_t* request) {
  return call(__func__, -1, 0, [&](Runtime& runtime) { return start(runtime, persistent, request); });
}

rma_status_t rma_persistent_free(rma_persistent_t* persistent) {
  return call(__func__, -1, 0, [&](Runtime& runtime) -> Status {
    RMA_TRY(check_not_null(persistent, "persistent"));
    if (!runtime.persistents->end(persistent_name(*persistent))) {
      return invalid_persistent(*persistent);
    }
    *persistent = nullptr;
    return {};
  });
}

}  // extern "C"

}  // namespace librma
