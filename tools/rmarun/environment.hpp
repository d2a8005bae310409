#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rmarun {

/// The environment of a process that will be started.
class Environment {
 public:
  /// Returns this process's variables, except those that tie it to a job of which it may itself be a rank.
  static Environment inherited();

  void set(const std::string& name, const std::string& value) { variables_[name] = value; }
  void remove(const std::string& name) { variables_.erase(name); }
  /// Returns the value of a variable; empty if it is not set.
  [[nodiscard]] std::string get(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? std::string() : found->second;
  }
  /// Sets `name`, which is a list with colons, to `first` and what it holds already.
  void prepend(const std::string& name, const std::string& first) {
    const std::string others = get(name);
    set(name, others.empty() ? first : first + ":" + others);
  }
  /// Sets the variable of `assignment`, which has the form NAME=VALUE.
  void set(const std::string& assignment);

  /// Returns all variables as NAME=VALUE.
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::map<std::string, std::string> variables_;
};

/// Whether a variable of this process is set, and to more than an empty text.
bool has_value(const char* variable);

/// Sets HOME to "/", as container engines do, if this process has no HOME and its user no entry in the list
/// of users. libpmix 4.2 crashes without both, in rmarun and in its clients. Call it while there is one
/// thread.
void provide_home();

}  // namespace rmarun
