// The variables of MPI_T: librma's counters and settings, before, during and after the job.

#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "check.hpp"

namespace {

/// A counter of the session that it is made with.
class Counter {
 public:
  Counter(MPI_T_pvar_session session, const char* name) : session_(session) {
    int index = -1;
    int count = -1;
    SUCCEEDS(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    SUCCEEDS(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle_, &count));
    CHECK(count == 1);
  }
  [[nodiscard]] unsigned long long read() const {
    unsigned long long value = ~0ULL;
    SUCCEEDS(MPI_T_pvar_read(session_, handle_, &value));
    return value;
  }
  void free() {
    SUCCEEDS(MPI_T_pvar_handle_free(session_, &handle_));
    CHECK(handle_ == MPI_T_PVAR_HANDLE_NULL);
  }

 private:
  MPI_T_pvar_session session_;
  MPI_T_pvar_handle handle_ = MPI_T_PVAR_HANDLE_NULL;
};

/// Returns the value of a setting that is no number.
std::string read_text(const char* name) {
  int index = -1;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  SUCCEEDS(MPI_T_cvar_get_index(name, &index));
  SUCCEEDS(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
  std::vector<char> text(static_cast<std::size_t>(count), 'x');
  SUCCEEDS(MPI_T_cvar_read(handle, text.data()));
  CHECK(std::memchr(text.data(), 0, text.size()) == &text.back());
  CHECK(MPI_T_cvar_write(handle, text.data()) == MPI_T_ERR_CVAR_SET_NEVER);
  SUCCEEDS(MPI_T_cvar_handle_free(&handle));
  return text.data();
}

/// Returns the value of a setting that is a number.
unsigned long long read_number(const char* name) {
  int index = -1;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  unsigned long long value = 0;
  SUCCEEDS(MPI_T_cvar_get_index(name, &index));
  SUCCEEDS(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
  CHECK(count == 1);
  SUCCEEDS(MPI_T_cvar_read(handle, &value));
  SUCCEEDS(MPI_T_cvar_handle_free(&handle));
  return value;
}

/// Every counter has a name of its own, by which its index is found, and a text.
void list_counters() {
  int count = 0;
  SUCCEEDS(MPI_T_pvar_get_num(&count));
  CHECK(count > 50);
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    std::array<char, 200> name = {};
    std::array<char, 500> text = {};
    int name_length = name.size();
    int text_length = text.size();
    int verbosity = 0;
    int var_class = 0;
    int bind = 0;
    int readonly = -1;
    int continuous = -1;
    int atomic = -1;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    auto* values = reinterpret_cast<MPI_T_enum>(&count);
    SUCCEEDS(MPI_T_pvar_get_info(i, name.data(), &name_length, &verbosity, &var_class, &type, &values,
                                 text.data(), &text_length, &bind, &readonly, &continuous, &atomic));
    CHECK(static_cast<std::size_t>(name_length) == std::strlen(name.data()) + 1 && name_length > 1);
    CHECK(static_cast<std::size_t>(text_length) == std::strlen(text.data()) + 1 && text_length > 1);
    CHECK(verbosity == MPI_T_VERBOSITY_TUNER_BASIC && var_class == MPI_T_PVAR_CLASS_COUNTER);
    CHECK(type == MPI_UNSIGNED_LONG_LONG && values == MPI_T_ENUM_NULL && bind == MPI_T_BIND_NO_OBJECT);
    CHECK(readonly == 1 && continuous == 1 && atomic == 0);
    CHECK(names.insert(name.data()).second);
    int index = -1;
    SUCCEEDS(MPI_T_pvar_get_index(name.data(), MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK(index == i);
    // A tool may ask for nothing.
    SUCCEEDS(MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr, nullptr));
  }
}

/// The same of the settings, all of whose values can be read.
void list_settings() {
  int count = 0;
  SUCCEEDS(MPI_T_cvar_get_num(&count));
  CHECK(count > 40);
  std::set<std::string> names;
  int numbers = 0;
  for (int i = 0; i < count; ++i) {
    std::array<char, 200> name = {};
    std::array<char, 1000> text = {};
    int name_length = name.size();
    int text_length = text.size();
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    auto* values = reinterpret_cast<MPI_T_enum>(&count);
    SUCCEEDS(MPI_T_cvar_get_info(i, name.data(), &name_length, &verbosity, &type, &values, text.data(),
                                 &text_length, &bind, &scope));
    CHECK(std::strncmp(name.data(), "RMA_", 4) == 0 && names.insert(name.data()).second);
    CHECK(text_length > 1 && static_cast<std::size_t>(text_length) == std::strlen(text.data()) + 1);
    CHECK(verbosity == MPI_T_VERBOSITY_TUNER_BASIC && values == MPI_T_ENUM_NULL);
    CHECK(bind == MPI_T_BIND_NO_OBJECT && scope == MPI_T_SCOPE_CONSTANT);
    CHECK(type == MPI_UNSIGNED_LONG_LONG || type == MPI_CHAR);
    if (type == MPI_CHAR) {
      static_cast<void>(read_text(name.data()));
    } else {
      static_cast<void>(read_number(name.data()));
      ++numbers;
    }
    SUCCEEDS(MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr));
  }
  CHECK(numbers > 10 && numbers < count);
}

void check_settings() {
  CHECK(read_number("RMA_EAGER") == 16384);
  CHECK(read_text("RMA_LOG") == "error");
  CHECK(read_text("RMA_STATS_FILE").empty());
  CHECK(read_text("RMA_PROGRESS") == "caller");
}

/// Before the job begins, the settings are those of the environment, and the counters are 0.
void check_before_job(MPI_T_pvar_session session) {
  setenv("RMA_EAGER", "16K", 1);
  setenv("RMA_LOG", "error", 1);
  unsetenv("RMA_STATS_FILE");
  unsetenv("RMA_PROGRESS");
  check_settings();
  list_settings();
  list_counters();
  CHECK(Counter(session, "put_bytes").read() == 0);
  setenv("RMA_SPIN", "often", 1);
  int count = 0;
  int index = -1;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  SUCCEEDS(MPI_T_cvar_get_index("RMA_EAGER", &index));
  CHECK(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_T_ERR_NOT_ACCESSIBLE);
  unsetenv("RMA_SPIN");
}

/// Counters rise by what the program does.
void count_puts(MPI_T_pvar_session session) {
  constexpr int kPuts = 7;
  constexpr int kBytes = 100;
  Counter puts(session, "put_direct");
  Counter bytes(session, "put_bytes");
  Counter atomics(session, "atomic");
  const mpi_test::Ring ring(MPI_COMM_WORLD);
  char* memory = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  SUCCEEDS(MPI_Win_allocate(kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &win));
  SUCCEEDS(MPI_Win_lock_all(0, win));
  const std::array<char, kBytes> data = {};
  const unsigned long long puts_before = puts.read();
  const unsigned long long bytes_before = bytes.read();
  const unsigned long long atomics_before = atomics.read();
  for (int i = 0; i < kPuts; ++i)
    SUCCEEDS(MPI_Put(data.data(), kBytes, MPI_CHAR, ring.next, 0, kBytes, MPI_CHAR, win));
  CHECK(puts.read() == puts_before + kPuts);
  CHECK(bytes.read() == bytes_before + kPuts * kBytes);
  CHECK(atomics.read() == atomics_before);
  SUCCEEDS(MPI_Win_unlock_all(win));
  SUCCEEDS(MPI_Win_free(&win));
  puts.free();
  bytes.free();
  // The last handle is left to the session.
}

/// The same of messages.
void count_messages(MPI_T_pvar_session session) {
  const Counter eager(session, "send_eager");
  const mpi_test::Ring ring(MPI_COMM_WORLD);
  const unsigned long long before = eager.read();
  for (int i = 0; i < 5; ++i) {
    int sent = i;
    int got = -1;
    SUCCEEDS(MPI_Sendrecv(&sent, 1, MPI_INT, ring.next, 3, &got, 1, MPI_INT, ring.previous, 3, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK(got == i);
  }
  CHECK(eager.read() == before + 5);
}

/// No tool can start, stop or change a counter, and all sessions read the same.
void refuse_changes(MPI_T_pvar_session session) {
  int index = -1;
  int count = 0;
  unsigned long long value = 5;
  MPI_T_pvar_session other = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  SUCCEEDS(MPI_T_pvar_session_create(&other));
  SUCCEEDS(MPI_T_pvar_get_index("barrier", MPI_T_PVAR_CLASS_COUNTER, &index));
  SUCCEEDS(MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count));
  CHECK(MPI_T_pvar_start(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_stop(session, handle) == MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK(MPI_T_pvar_reset(session, handle) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_write(session, handle, &value) == MPI_T_ERR_PVAR_NO_WRITE);
  CHECK(MPI_T_pvar_readreset(session, handle, &value) == MPI_T_ERR_PVAR_NO_ATOMIC);
  CHECK(value == 5);
  for (const auto change : {MPI_T_pvar_start, MPI_T_pvar_stop, MPI_T_pvar_reset})
    SUCCEEDS(change(session, MPI_T_PVAR_ALL_HANDLES));
  CHECK(MPI_T_pvar_read(other, handle, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_handle_free(other, &handle) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value) == MPI_T_ERR_INVALID_HANDLE);
  CHECK(Counter(other, "put_bytes").read() == Counter(session, "put_bytes").read());
  SUCCEEDS(MPI_T_pvar_session_free(&other));
  SUCCEEDS(MPI_T_pvar_handle_free(session, &handle));
}

}  // namespace

int main(int argc, char** argv) {
  int provided = -1;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  SUCCEEDS(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  SUCCEEDS(MPI_T_pvar_session_create(&session));
  check_before_job(session);
  const Counter bytes(session, "put_bytes");

  SUCCEEDS(MPI_Init(&argc, &argv));
  // The job keeps the settings that it began with.
  setenv("RMA_EAGER", "8K", 1);
  CHECK(read_number("RMA_EAGER") == 16384);
  setenv("RMA_EAGER", "16K", 1);
  check_settings();
  count_puts(session);
  count_messages(session);
  refuse_changes(session);
  SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  int code = mpi_test::result();
  SUCCEEDS(MPI_Finalize());

  // What was counted stays.
  if (bytes.read() < 700) code = EXIT_FAILURE;
  if (read_number("RMA_EAGER") != 16384) code = EXIT_FAILURE;
  unsigned long long value = 0;
  if (MPI_T_pvar_session_free(&session) != MPI_SUCCESS || MPI_T_finalize() != MPI_SUCCESS)
    code = EXIT_FAILURE;
  if (MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &value) != MPI_T_ERR_NOT_INITIALIZED)
    code = EXIT_FAILURE;
  return code;
}
