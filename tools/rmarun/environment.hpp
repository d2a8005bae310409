#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rmarun {

/// The variables of a process to be.
class Environment {
 public:
  /// Those of this process, without what ties it to a job that it may itself be a rank of.
  static Environment inherited();

  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  /// `assignment` is NAME=VALUE.
  void set(const std::string& assignment);

  /// All of them as NAME=VALUE.
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::map<std::string, std::string> variables_;
};

}  // namespace rmarun
