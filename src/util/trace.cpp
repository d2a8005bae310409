#include "util/trace.hpp"
#include "util/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace librma {
namespace {

double microseconds(Trace::Clock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

void Trace::Closer::operator()(std::FILE* file) const { std::fclose(file); }

Trace::Trace(std::FILE* file, int rank) : file_(file), rank_(rank) { std::fputs("[", file_.get()); }

Trace::~Trace() { std::fputs("\n]\n", file_.get()); }

Result<std::unique_ptr<Trace>> Trace::open(const std::string& path, int rank) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    return system_failure(RMA_ERR_SYSTEM, text("RMA_TRACE: cannot write {}", path), errno);
  }
  return std::unique_ptr<Trace>(new Trace(file, rank));
}

void Trace::record(std::string_view name, Clock::time_point begin, int target, std::uint64_t bytes) noexcept {
  const auto end = Clock::now();
  const std::lock_guard guard(lock_);
  const std::string event = text(
      R"({}
{{"name":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{"target":{},"bytes":{}}}}})",
      first_ ? "" : ",", name, rank_, gettid(), microseconds(begin.time_since_epoch()),
      microseconds(end - begin), target, bytes);
  if (event.empty()) return;  // there is no memory for the event; the call itself is not affected
  std::fputs(event.c_str(), file_.get());
  first_ = false;
}

std::string path_for_rank(std::string_view path, int rank) {
  std::string result(path);
  const std::string number = fmt::format("{}", rank);
  for (std::size_t at = result.find("%r"); at != std::string::npos;
       at = result.find("%r", at + number.size())) {
    result.replace(at, 2, number);
  }
  return result;
}

}  // namespace librma
