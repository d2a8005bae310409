#include "rmarun/hosts/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "util/try_assign.hpp"

namespace rmarun {
namespace {

/// execve(2) takes strings of up to 128 KiB.
constexpr std::size_t kPiece = std::size_t{96} << 10;
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8U | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kDigits[bits >> static_cast<unsigned>(count - 6) & 63U];
  }
  if (count > 0) text += kDigits[bits << static_cast<unsigned>(6 - count) & 63U];
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto digit = kDigits.find(c);
    if (digit == kDigits.npos) return std::nullopt;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
  }
  return bytes;
}

/// Writes fields one behind another, each as LENGTH:BYTES.
class FieldWriter {
 public:
  void text(std::string_view field) { fields_ += fmt::format("{}:{}", field.size(), field); }
  void number(std::size_t value) { text(std::to_string(value)); }
  void texts(const std::vector<std::string>& fields) {
    number(fields.size());
    for (const std::string& field : fields) text(field);
  }
  [[nodiscard]] const std::string& fields() const { return fields_; }

 private:
  std::string fields_;
};

/// Reads them. A field that is not there is empty, and whole() is false then.
class FieldReader {
 public:
  explicit FieldReader(std::string_view fields) : rest_(fields) {}

  std::string text() {
    std::size_t size = 0;
    const auto colon = rest_.find(':');
    const auto parsed = std::from_chars(rest_.data(), rest_.data() + std::min(colon, rest_.size()), size);
    if (colon == rest_.npos || parsed.ptr != rest_.data() + colon || size > rest_.size() - colon - 1) {
      whole_ = false;
      rest_ = {};
      return "";
    }
    std::string field(rest_.substr(colon + 1, size));
    rest_.remove_prefix(colon + 1 + size);
    return field;
  }
  std::size_t number() {
    const std::string field = text();
    std::size_t value = 0;
    whole_ = std::from_chars(field.data(), field.data() + field.size(), value).ec == std::errc() && whole_;
    return whole_ ? value : 0;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> fields;
    for (std::size_t left = number(); left > 0 && whole_; --left) fields.push_back(text());
    return fields;
  }
  [[nodiscard]] bool whole() const { return whole_; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

void write_program(FieldWriter& to, const Program& program) {
  to.number(static_cast<std::size_t>(program.ranks));
  to.text(program.directory);
  to.texts(program.command);
  to.number(program.environment.size());
  for (const auto& [name, value] : program.environment) {
    to.text(name);
    to.text(value);
  }
}

Program read_program(FieldReader& from) {
  Program program;
  program.ranks = static_cast<int>(from.number());
  program.directory = from.text();
  program.command = from.texts();
  for (std::size_t left = from.number(); left > 0 && from.whole(); --left) {
    std::string name = from.text();
    program.environment.emplace_back(std::move(name), from.text());
  }
  return program;
}

std::string variable(std::size_t number) { return fmt::format("{}_{}", kDescriptionVariable, number); }

}  // namespace

std::vector<std::string> packed(const Description& description) {
  FieldWriter fields;
  fields.text(description.version);
  fields.text(description.origin);
  fields.text(description.directory);
  fields.number(static_cast<std::size_t>(description.carriage));
  fields.number(static_cast<std::size_t>(description.descriptor));
  fields.number(static_cast<std::size_t>(description.bind));
  fields.number(description.stdin_for_first ? 1 : 0);
  fields.texts(description.environment);
  fields.number(description.programs.size());
  for (const Program& program : description.programs) write_program(fields, program);
  fields.texts(description.hosts);

  std::vector<std::string> variables;
  const std::string text = to_base64(fields.fields());
  for (std::size_t at = 0; at < text.size(); at += kPiece) {
    variables.push_back(fmt::format("{}={}", variable(variables.size()), text.substr(at, kPiece)));
  }
  variables.push_back(fmt::format("{}={}", kDescriptionVariable, variables.size()));
  return variables;
}

librma::Result<Description> unpacked() {
  const auto failure = [](std::string text) { return librma::Status(RMA_ERR_LAUNCH, std::move(text)); };
  const char* const count = std::getenv(std::string(kDescriptionVariable).c_str());
  if (count == nullptr) {
    return failure(fmt::format("--rank is for rmarun itself, on the hosts of a job: {} is not set",
                               kDescriptionVariable));
  }
  std::size_t pieces = 0;
  std::from_chars(count, count + std::char_traits<char>::length(count), pieces);
  std::string text;
  for (std::size_t i = 0; i < pieces; ++i) {
    const char* const piece = std::getenv(variable(i).c_str());
    if (piece == nullptr) return failure(fmt::format("the engine has not passed {} on", variable(i)));
    text += piece;
  }
  const auto bytes = from_base64(text);
  if (!bytes) return failure(fmt::format("the engine has changed the values of {}_*", kDescriptionVariable));
  FieldReader fields(*bytes);
  Description description;
  description.version = fields.text();
  description.origin = fields.text();
  description.directory = fields.text();
  description.carriage = fields.number() == 0 ? Carriage::kTagged : Carriage::kLines;
  description.descriptor = fields.number() == STDERR_FILENO ? STDERR_FILENO : STDOUT_FILENO;
  description.bind = fields.number() == 0 ? Bind::kNone : Bind::kCore;
  description.stdin_for_first = fields.number() != 0;
  description.environment = fields.texts();
  for (std::size_t left = fields.number(); left > 0 && fields.whole(); --left)
    description.programs.push_back(read_program(fields));
  description.hosts = fields.texts();
  if (!fields.whole()) return failure("the description of the job has arrived in part");
  return description;
}

bool goes_to_other_hosts(std::string_view name) {
  constexpr std::array<std::string_view, 12> kOfThisHost = {
      "DISPLAY", "HOSTNAME",        "PWD",  "OLDPWD",   "SHLVL",     "TMPDIR", "LS_COLORS",
      "_",       "TERM_SESSION_ID", "HOST", "WINDOWID", "XAUTHORITY"};
  constexpr std::array<std::string_view, 13> kPrefixes = {
      "SSH_",  "XDG_",  "DBUS_", "PMIX_", "SLURM_",  "BASH_FUNC_", "PMI_",
      "PRTE_", "OMPI_", "ORTE_", "HYDI_", "RMARUN_", "KUBERNETES_"};
  return std::ranges::find(kOfThisHost, name) == kOfThisHost.end() &&
         std::ranges::none_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace rmarun
