// rma-info: shows the abilities of this machine that librma uses, and every setting.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "report.hpp"
#include "rma/rma.h"

int main(int argc, char** argv) {
  CLI::App app("Shows what this machine offers to librma, and its settings.");
  bool settings = false;
  bool markdown = false;
  bool json = false;
  bool devices = false;
  bool copies = false;
  bool collectives = false;
  app.add_flag("--settings", settings, "Show every setting with its value, range and meaning");
  app.add_flag("--settings-markdown", markdown, "Print docs/settings.md");
  app.add_flag("--devices", devices, "Show the RDMA devices, and which of their ports a job would use");
  app.add_flag("--copies", copies,
               "Measure the ways to copy within this host, and show which a job would take");
  app.add_flag("--collectives", collectives, "Show which engine executes each collective operation");
  app.add_flag("--json", json, "Print JSON");
  app.set_version_flag("--version", std::string("rma-info of librma ") + rma_version(),
                       "Print the version and exit");
  CLI11_PARSE(app, argc, argv);

  std::string text;
  if (markdown) {
    text = librma::info::settings_markdown();
  } else if (collectives) {
    text = json ? librma::info::collectives_page_json().dump(2) + "\n" : librma::info::collectives_page();
  } else if (copies) {
    text = json ? librma::info::copies_json().dump(2) + "\n" : librma::info::copies_page();
  } else if (json) {
    nlohmann::ordered_json all = librma::info::machine_json();
    all["settings"] = librma::info::settings_json();
    text = all.dump(2) + "\n";
  } else if (devices) {
    text = librma::info::devices_page();
  } else {
    text = settings ? librma::info::settings_text() : librma::info::machine_text();
  }
  std::fputs(text.c_str(), stdout);
  if (markdown) return 0;
  if (const std::string warning = librma::info::environment_warning(); !warning.empty()) {
    std::fprintf(stderr, "rma-info: warning: %s\n", warning.c_str());
  }
  std::string wrong = librma::info::environment_error();
  if (wrong.empty() && !settings) wrong = librma::info::devices_error();
  if (wrong.empty()) return 0;
  std::fflush(stdout);
  std::fprintf(stderr, "rma-info: the environment is wrong, the defaults are shown: %s\n", wrong.c_str());
  return 1;
}
