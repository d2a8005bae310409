/**
 * @file copy.cpp
 * copy-bench: every way to copy a block, beside the one that the library's table has. One process, blocks of
 * 64 bytes to 8 MiB, at four alignments, of which "malloc" is how glibc places two long blocks. The ways take
 * their samples in turn, so that a disturbance of the machine falls on all of them.
 */
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/clock.hpp"
#include "harness/stats.hpp"
#include "util/copying/copy_table.hpp"

namespace {

using librma::BlockCopy;
using librma::CopyMethod;
using rma::bench::now_ns;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLeastBytes = 64;
constexpr std::size_t kMostBytes = std::size_t{8} << 20U;

/** Where the two blocks lie behind the start of a page. */
struct Alignment {
  const char* name;
  std::size_t destination;
  std::size_t source;
};
constexpr std::array<Alignment, 4> kAlignments = {
    {{"aligned", 0, 0}, {"alike", 24, kPage / 2 + 24}, {"apart", 8, kPage / 2 + 20}, {"malloc", 16, 16}}};

struct Way {
  std::string name;
  BlockCopy copy;
};

/** The library's way first, then every method that this processor has. */
std::vector<Way> ways() {
  std::vector<Way> all = {{"librma", [](void* dst, const void* src, std::size_t bytes) {
                             librma::copy_mapped(dst, src, bytes);
                           }}};
  for (std::size_t i = 0; i < librma::kCopyMethods; ++i) {
    const auto method = static_cast<CopyMethod>(i);
    if (const BlockCopy copy = librma::block_copy(method); copy != nullptr) {
      all.push_back({std::string(librma::copy_method_name(method)), copy});
    }
  }
  return all;
}

struct Row {
  std::size_t bytes;
  const char* alignment;
  std::vector<double> medians;  ///< ns of one copy, as ways(); 0 for blocks that are too short for the way
};

/** Measures one row. The destination is read after each sample if `read`, and that counts. */
Row measure(const std::vector<Way>& all, const Alignment& alignment, std::size_t bytes, int samples,
            bool read, std::vector<char>& from, std::vector<char>& to) {
  const auto page_of = [](std::vector<char>& memory) {
    return memory.data() + (kPage - reinterpret_cast<std::uintptr_t>(memory.data()) % kPage);
  };
  char* const dst = page_of(to) + alignment.destination;
  const char* const src = page_of(from) + alignment.source;
  const std::size_t count = std::max<std::size_t>(1, (std::size_t{1} << 17U) / bytes);
  std::vector<std::vector<double>> times(all.size());
  long sum = 0;
  const auto take_sample = [&](std::size_t way, bool counts) {
    const double began = now_ns();
    for (std::size_t i = 0; i < count; ++i) {
      all[way].copy(dst, src, bytes);
      if (read) {
        for (std::size_t at = 0; at < bytes; at += 64) sum += dst[at];
      }
    }
    const double elapsed = now_ns() - began;
    if (counts) times[way].push_back(elapsed / static_cast<double>(count));
  };
  // The last way, the stream, takes its samples by itself, because it drives the blocks out of the caches.
  const std::size_t in_turn = bytes < librma::kLeastBlock ? 2 : all.size() - 1;
  for (int sample = -1; sample < samples; ++sample) {
    for (std::size_t way = 0; way < in_turn; ++way) take_sample(way, sample >= 0);
  }
  for (int sample = -1; sample < samples && in_turn > 2; ++sample) take_sample(all.size() - 1, sample >= 0);
  Row row = {.bytes = bytes, .alignment = alignment.name, .medians = {}};
  for (auto& each : times) {
    row.medians.push_back(each.empty() ? 0 : rma::bench::summarize(std::move(each)).median);
  }
  if (sum == 1) std::fputs("", stdout);  // so that the reads happen
  return row;
}

/** Returns the fastest of the ways from which the library chooses: all but the stream. */
double best_of(const std::vector<Way>& all, const Row& row) {
  double best = 0;
  for (std::size_t way = 1; way < all.size(); ++way) {
    if (row.medians[way] == 0 || all[way].name == librma::copy_method_name(CopyMethod::stream)) continue;
    if (best == 0 || row.medians[way] < best) best = row.medians[way];
  }
  return best;
}

void print(const std::vector<Way>& all, const std::vector<Row>& rows) {
  std::printf("%9s  %-8s", "bytes", "blocks");
  for (const Way& way : all) std::printf("%12s", way.name.c_str());
  std::printf("%12s\n", "to best");
  for (const Row& row : rows) {
    std::printf("%9zu  %-8s", row.bytes, row.alignment);
    for (const double median : row.medians) {
      if (median == 0) {
        std::printf("%12s", "-");
      } else {
        std::printf("%12.1f", median);
      }
    }
    std::printf("%12.2f\n", row.medians[0] / best_of(all, row));
  }
}

nlohmann::ordered_json json_of(const std::vector<Way>& all, const std::vector<Row>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json entry = {{"bytes", row.bytes}, {"blocks", row.alignment}, {"unit", "ns"}};
    for (std::size_t way = 0; way < all.size(); ++way) {
      if (row.medians[way] != 0) entry[all[way].name] = row.medians[way];
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures every way to copy a block within a host, beside the way that librma chooses"};
  bool json = false;
  bool read = false;
  bool quick = false;
  app.add_flag("--json", json, "Print JSON");
  app.add_flag("--read", read, "Also read each block after it was copied, as its receiver does");
  app.add_flag("--quick", quick, "A few samples: shows that it works, measures nothing");
  CLI11_PARSE(app, argc, argv);

  librma::use_copies(librma::fastest_copies(librma::time_copies(librma::kCopyBudget)));
  const std::vector<Way> all = ways();
  std::vector<char> from(kMostBytes + 3 * kPage, 1);
  std::vector<char> to(kMostBytes + 3 * kPage);
  std::vector<Row> rows;
  for (const Alignment& alignment : kAlignments) {
    for (std::size_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2) {
      rows.push_back(measure(all, alignment, bytes, quick ? 1 : 25, read, from, to));
    }
  }
  if (json) {
    std::printf("%s\n", json_of(all, rows).dump(2).c_str());
  } else {
    print(all, rows);
  }
  return 0;
}
