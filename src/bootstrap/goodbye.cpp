#include "bootstrap/goodbye.hpp"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>

namespace rma {
namespace {

/// The name that is published. tools/rmarun/pmix_server.cpp takes every publication for a goodbye.
constexpr const char kLeft[] = "rma.left";
constexpr auto kPatience = std::chrono::seconds(2);

/// rmarun names its jobs HOST-rmarun-NUMBER (tools/rmarun/pmix_server.cpp).
bool under_rmarun(const pmix_proc_t& self) {
  return std::string_view(self.nspace).find("-rmarun-") != std::string_view::npos;
}

/// An answer of the launcher. This thread waits for it, and PMIx's thread announces it, later perhaps.
class Answer {
 public:
  void come() {
    const std::lock_guard lock(mutex_);
    has_come_ = true;
    changed_.notify_one();
  }
  bool await() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [this] { return has_come_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_come_ = false;
};

void on_answer(pmix_status_t /*code*/, void* cookie) {
  const std::unique_ptr<std::shared_ptr<Answer>> answer(static_cast<std::shared_ptr<Answer>*>(cookie));
  (*answer)->come();
}

/// Calls `send` with a callback, and waits for the callback. Returns false if the question is under way and
/// has no answer yet. A failure of `send` is no matter: the launcher then sees the process leave when it
/// exits.
template <typename Send>
bool ask(Send send) noexcept {
  try {
    auto answer = std::make_shared<Answer>();
    auto cookie = std::make_unique<std::shared_ptr<Answer>>(answer);
    if (send(on_answer, cookie.get()) != PMIX_SUCCESS) return true;
    [[maybe_unused]] auto* const owned_by_callback = cookie.release();
    return answer->await();
  } catch (const std::bad_alloc&) {
    return true;
  }
}

}  // namespace

bool say_goodbye(const pmix_proc_t& self) noexcept {
  if (!under_rmarun(self)) return true;
  return ask([](pmix_op_cbfunc_t done, void* cookie) {
    pmix_info_t info;
    const bool left = true;
    PMIx_Info_load(&info, kLeft, &left, PMIX_BOOL);
    // PMIx has packed the info when the call returns.
    return PMIx_Publish_nb(&info, 1, done, cookie);
  });
}

void take_goodbye_back(const pmix_proc_t& self) noexcept {
  if (!under_rmarun(self)) return;
  ask([](pmix_op_cbfunc_t done, void* cookie) {
    // PMIx's interface only lacks the const.
    char* names[] = {const_cast<char*>(kLeft), nullptr};
    return PMIx_Unpublish_nb(names, nullptr, 0, done, cookie);
  });
}

}  // namespace rma
