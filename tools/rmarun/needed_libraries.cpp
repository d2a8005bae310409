#include "rmarun/needed_libraries.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "rmarun/split.hpp"
#include "util/system/descriptor.hpp"

namespace rmarun {
namespace {

namespace fs = std::filesystem;

// Files may hold anything. More than this is no program's, and is not read.
constexpr std::size_t kMostHeaders = 1024;
constexpr std::size_t kMostEntries = std::size_t{1} << 16;
constexpr std::size_t kMostText = std::size_t{64} << 20;
constexpr std::size_t kMostLibraries = 4096;
constexpr std::size_t kMostName = std::size_t{64}
                                  << 10;  ///< bytes of a library's name, or of a list of folders

/// The folders in which the dynamic linker looks last.
constexpr std::array kUsualFolders = {
    "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
    "/usr/local/lib"};

/// What a file says of the libraries that it needs.
struct Needs {
  std::vector<std::string> libraries;
  std::vector<std::string> folders;  ///< DT_RPATH and DT_RUNPATH, with $ORIGIN replaced
};

/// Reads `count` values from a place of a file. Returns nothing if they are not there.
template <class T>
std::optional<std::vector<T>> read_values(int file, std::uint64_t offset, std::size_t count) {
  std::vector<T> values(count);
  const std::size_t bytes = count * sizeof(T);
  const ssize_t got = ::pread(file, values.data(), bytes, static_cast<off_t>(offset));
  if (got != static_cast<ssize_t>(bytes)) return std::nullopt;
  return values;
}

std::string with_origin(std::string folder, const fs::path& file) {
  for (const std::string_view name : {"${ORIGIN}", "$ORIGIN"}) {
    if (const auto at = folder.find(name); at != std::string::npos)
      folder.replace(at, name.size(), file.parent_path().string());
  }
  return folder;
}

/// The dynamic section of a file: its entries, and the place of its table of texts.
struct DynamicSection {
  std::vector<Elf64_Dyn> entries;
  std::uint64_t texts = 0;
  std::uint64_t bytes_of_texts = 0;
};

/// Returns the place in the file of an address in the program's memory.
std::optional<std::uint64_t> place_of(const std::vector<Elf64_Phdr>& headers, std::uint64_t address) {
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
      return header.p_offset + (address - header.p_vaddr);
  }
  return std::nullopt;
}

std::optional<DynamicSection> read_dynamic_section(int file) {
  const auto start = read_values<Elf64_Ehdr>(file, 0, 1);
  if (!start) return std::nullopt;
  const Elf64_Ehdr& elf = start->front();
  const bool known = std::memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_ident[EI_CLASS] == ELFCLASS64 &&
                     elf.e_ident[EI_DATA] == ELFDATA2LSB && elf.e_phentsize == sizeof(Elf64_Phdr);
  if (!known || elf.e_phnum > kMostHeaders) return std::nullopt;
  const auto headers = read_values<Elf64_Phdr>(file, elf.e_phoff, elf.e_phnum);
  if (!headers) return std::nullopt;
  const auto dynamic = std::ranges::find(*headers, PT_DYNAMIC, &Elf64_Phdr::p_type);
  if (dynamic == headers->end() || dynamic->p_filesz / sizeof(Elf64_Dyn) > kMostEntries) return std::nullopt;
  auto entries = read_values<Elf64_Dyn>(file, dynamic->p_offset, dynamic->p_filesz / sizeof(Elf64_Dyn));
  if (!entries) return std::nullopt;
  const auto value_of = [&](Elf64_Sxword tag) {
    const auto found = std::ranges::find(*entries, tag, &Elf64_Dyn::d_tag);
    return found != entries->end() ? found->d_un.d_val : 0;
  };
  const std::uint64_t bytes = value_of(DT_STRSZ);
  const auto place = place_of(*headers, value_of(DT_STRTAB));
  if (!place || bytes > kMostText) return std::nullopt;
  return DynamicSection{std::move(*entries), *place, bytes};
}

/// Returns a text of the table, or an empty one. It is read by itself: the libraries of a rank have 600 KB of
/// texts, and each keeper looks through them all.
std::string text_at(int file, const DynamicSection& section, std::uint64_t offset) {
  std::string text;
  std::array<char, 256> piece{};
  while (offset < section.bytes_of_texts && text.size() < kMostName) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), section.bytes_of_texts - offset);
    const ssize_t got = ::pread(file, piece.data(), wanted, static_cast<off_t>(section.texts + offset));
    if (got <= 0) return {};
    const std::string_view bytes(piece.data(), static_cast<std::size_t>(got));
    const std::size_t end = bytes.find('\0');
    text += bytes.substr(0, end);
    if (end != std::string_view::npos) return text;
    offset += bytes.size();
  }
  return {};
}

Needs needs_of(const fs::path& path) {
  const librma::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return {};
  const auto section = read_dynamic_section(file.get());
  if (!section) return {};
  Needs needs;
  for (const Elf64_Dyn& entry : section->entries) {
    if (entry.d_tag == DT_NULL) break;
    const bool is_folder = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
    if (entry.d_tag != DT_NEEDED && !is_folder) continue;
    std::string text = text_at(file.get(), *section, entry.d_un.d_val);
    if (text.empty()) continue;
    if (!is_folder) {
      needs.libraries.push_back(std::move(text));
      continue;
    }
    for (std::string& folder : split(text, ':'))
      needs.folders.push_back(with_origin(std::move(folder), path));
  }
  return needs;
}

/// Returns the path of a program as execvpe(3) finds it, or an empty one.
fs::path find_program(std::string_view program) {
  if (program.find('/') != std::string_view::npos) return program;
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nobody changes it
  for (const std::string& folder : split(path != nullptr ? path : "/bin:/usr/bin", ':')) {
    fs::path file = fs::path(folder) / program;
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// Returns the path of a file in one of the folders, or an empty one.
fs::path find_in(const std::vector<std::string>& folders, const std::string& name) {
  std::error_code error;
  for (const std::string& folder : folders) {
    fs::path file = fs::path(folder) / name;
    if (fs::exists(file, error)) return file;
  }
  return {};
}

}  // namespace

bool names_function(std::string_view program, std::string_view prefix) {
  const librma::Descriptor file(::open(find_program(program).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return false;
  const auto section = read_dynamic_section(file.get());
  if (!section) return false;
  const auto texts = read_values<char>(file.get(), section->texts, section->bytes_of_texts);
  if (!texts) return false;
  std::string start(1, '\0');  // of a name in the table of texts
  start += prefix;
  return std::string_view(texts->data(), texts->size()).find(start) != std::string_view::npos;
}

fs::path find_library(const std::string& name, const Environment& environment) {
  std::vector<std::string> folders = split(environment.get("LD_LIBRARY_PATH"), ':');
  folders.insert(folders.end(), kUsualFolders.begin(), kUsualFolders.end());
  return find_in(folders, name);
}

bool needs_library(std::string_view program, const Environment& environment,
                   const std::function<bool(std::string_view)>& matches) {
  const std::vector<std::string> given = split(environment.get("LD_LIBRARY_PATH"), ':');
  std::deque<fs::path> files = {find_program(program)};
  std::set<std::string> seen;
  for (; !files.empty() && seen.size() < kMostLibraries; files.pop_front()) {
    const Needs needs = needs_of(files.front());
    std::vector<std::string> folders = given;
    folders.insert(folders.end(), needs.folders.begin(), needs.folders.end());
    folders.insert(folders.end(), kUsualFolders.begin(), kUsualFolders.end());
    for (const std::string& library : needs.libraries) {
      if (matches(library)) return true;
      if (!seen.insert(library).second) continue;
      if (fs::path found = find_in(folders, library); !found.empty()) files.push_back(std::move(found));
    }
  }
  return false;
}

}  // namespace rmarun
