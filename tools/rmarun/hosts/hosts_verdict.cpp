#include "rmarun/hosts/hosts_verdict.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>

#include "rmarun/exit_codes.hpp"
#include "rmarun/hosts/agents.hpp"
#include "rmarun/processes.hpp"

namespace rmarun {
namespace {

/// How long the verdict waits for the death of a rank by a signal, when a rank has ended with a code: that
/// may be the consequence, and has come over another connection. A keeper may hold its report back for
/// kRequestGrace (keeper.cpp).
constexpr auto kVerdictGrace = std::chrono::milliseconds(500);
/// How long the verdict waits for an engine that ends the job by itself, and tells only then what it knows.
constexpr auto kWordsGrace = std::chrono::seconds(5);

int exit_code_of_engine(int status) {
  if (WIFSIGNALED(status)) return kExitSignal + WTERMSIG(status);
  const int code = WEXITSTATUS(status);
  return code == kExitNotExecutable || code == kExitNotFound ? code : kExitFailure;
}

}  // namespace

std::optional<Verdict> HostsVerdict::while_engine_runs(Clock::time_point now) {
  if (!ranks_.failed()) return first_meeting_.verdict(ranks_);
  if (!failed_at_) failed_at_ = now;
  due_ = *failed_at_ + (ranks_.lacks_words() ? Clock::duration(kWordsGrace) : kVerdictGrace);
  if (ranks_.may_change() && now < *due_) return std::nullopt;
  return on_failure();
}

Verdict HostsVerdict::on_failure() const {
  const std::string shells = shells_to_blame();
  return shells.empty() ? ranks_.cause() : Verdict{kExitFailure, "the job cannot start" + shells};
}

/// Returns a text about remote shells that have failed, if a host is lost that has no ranks yet. One whose
/// shell has done its work was lost later: others, which are slow, have nothing to do with that.
std::string HostsVerdict::shells_to_blame() const {
  const auto lost = ranks_.lost_before_start();
  if (!lost) return "";
  const auto& text_about = has_succeeded(directory_, *lost) ? failed_agents_text : agents_text;
  return text_about(directory_, ranks_.hosts_without_start());
}

Verdict HostsVerdict::after_engine(const std::string& path, int status) {
  const bool by_itself = WIFEXITED(status);
  if (by_itself) ranks_.note_engine_end();
  if (ranks_.failed()) return on_failure();
  if (ranks_.all_succeeded()) return {};
  if (by_itself) {
    if (const auto verdict = ranks_.cause_with_code_0()) return *verdict;
    // Remote shells that a killed engine has left say nothing of the hosts.
    const std::string shells = agents_text(directory_, ranks_.hosts_without_start());
    if (!shells.empty()) return {kExitFailure, "the job cannot start" + shells};
  }
  return on_engine(path, status);
}

Verdict HostsVerdict::on_engine(const std::string& path, int status) const {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string how = WIFSIGNALED(status) ? "was killed by " + describe_signal(WTERMSIG(status))
                                              : fmt::format("has ended with code {}", WEXITSTATUS(status));
  const std::string missing = ranks_.not_ended();
  std::string lines;
  for (const std::string& line : ranks_.last_lines()) lines += "\n  " + line;
  return {exit_code_of_engine(status),
          fmt::format("{} {}{}{}{}", name, how, missing.empty() ? "" : " before the ranks on " + missing,
                      lines.empty() ? "" : ". It says:", lines)};
}

}  // namespace rmarun
