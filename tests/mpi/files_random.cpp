// Random views, datatypes, hints and calls, against a model of the file's bytes. All ranks draw the same,
// so that each knows what the others do: in a round all write, or all read. Their views interleave and do
// not overlap.

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"
#include "file_forms.hpp"
#include "type_maker.hpp"

namespace {

using namespace mpi_test;

/// The bytes that a process sees, in their order.
struct ViewModel {
  MPI_Datatype etype = MPI_BYTE;
  MPI_Datatype filetype = MPI_BYTE;
  MPI_Offset displacement = 0;
  std::vector<MPI_Offset> tile = {0};  ///< the offsets of a tile's bytes
  MPI_Offset extent = 1;
  int etype_bytes = 1;

  [[nodiscard]] std::size_t offset_of(MPI_Offset position) const {
    const auto size = static_cast<MPI_Offset>(tile.size());
    return static_cast<std::size_t>(displacement + position / size * extent +
                                    tile[static_cast<std::size_t>(position % size)]);
  }
};

/// Returns whether the bytes of a type follow each other in the order of their addresses.
bool is_ascending(const TypeModel& type) {
  MPI_Aint end = type.true_lower();
  for (const Element& one : type.map) {
    if (one.offset < end) return false;
    end = one.offset + one.bytes;
  }
  return true;
}

std::vector<MPI_Offset> bytes_of(const TypeModel& type) {
  std::vector<MPI_Offset> bytes;
  for (const Element& one : type.map) {
    for (int i = 0; i < one.bytes; ++i) bytes.push_back(one.offset + i);
  }
  return bytes;
}

class RandomFile {
 public:
  RandomFile(const TestFile& path, unsigned seed)
      : path_(path),
        rank_(rank_in(MPI_COMM_WORLD)),
        size_(size_of(MPI_COMM_WORLD)),
        random_(seed),
        types_(seed * 31U) {
    const MPI_Info info = draw_hints();
    SUCCEEDS(MPI_File_open(MPI_COMM_WORLD, path.name().c_str(),
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file_));
    SUCCEEDS(MPI_Info_free(&info_));
    views_.resize(static_cast<std::size_t>(size_));
    pointers_.resize(static_cast<std::size_t>(size_), 0);
  }
  ~RandomFile() {
    SUCCEEDS(MPI_File_close(&file_));
    for (MPI_Datatype& type : made_) MPI_Type_free(&type);
  }
  RandomFile(const RandomFile&) = delete;
  RandomFile& operator=(const RandomFile&) = delete;

  void run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      if (round % 4 == 0) change_view();
      if (below(6) == 0) SUCCEEDS(MPI_File_set_atomicity(file_, below(2)));
      const bool writes = below(3) != 0;
      const auto form = static_cast<FileForm>(below(kFileForms));
      if (alike_ && below(2) == 0) {
        ordered_round(writes, below(2) == 0 ? FileForm::kCollective : FileForm::kSplit);
      } else {
        own_round(writes, form, below(2) == 0);
      }
      SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
      if (writes) compare();
    }
  }

 private:
  [[nodiscard]] int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  MPI_Info draw_hints() {
    SUCCEEDS(MPI_Info_create(&info_));
    const char* const switches[] = {"enable", "disable", "automatic"};
    for (const char* const key : {"romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write"})
      SUCCEEDS(MPI_Info_set(info_, key, switches[below(3)]));
    for (const char* const key : {"cb_buffer_size", "ind_rd_buffer_size", "ind_wr_buffer_size"}) {
      if (below(2) == 0) SUCCEEDS(MPI_Info_set(info_, key, std::to_string(50 + below(3000)).c_str()));
    }
    if (below(2) == 0)
      SUCCEEDS(MPI_Info_set(info_, "cb_nodes", std::to_string(1 + below(size_ + 2)).c_str()));
    return info_;
  }

  /// Returns a type whose bytes are in the order of their addresses.
  [[nodiscard]] TypeModel draw_ascending() {
    TypeModel type = types_.make(3);
    while (type.map.empty() || type.map.size() > 300 || !is_ascending(type)) type = types_.make(2);
    return type;
  }

  /// Gives each rank a part of every tile, or all ranks the same view.
  void change_view() {
    alike_ = below(3) == 0;
    const int parts = alike_ ? 1 : size_;
    std::vector<TypeModel> types;
    MPI_Offset slot = 0;
    for (int i = 0; i < parts; ++i) {
      types.push_back(draw_ascending());
      slot = std::max<MPI_Offset>(slot, types.back().true_upper() - types.back().true_lower());
    }
    slot += below(40);
    const MPI_Offset displacement = below(100);
    for (int rank = 0; rank < size_; ++rank) {
      ViewModel& view = views_[static_cast<std::size_t>(rank)];
      if (alike_ && rank > 0) {
        view = views_.front();
        continue;
      }
      view = place(types[static_cast<std::size_t>(rank)], rank * slot, parts * slot);
      view.displacement = displacement;
    }
    std::ranges::fill(pointers_, MPI_Offset{0});
    shared_ = 0;
    const ViewModel& mine = views_[static_cast<std::size_t>(rank_)];
    SUCCEEDS(MPI_File_set_view(file_, mine.displacement, mine.etype, mine.filetype, "native", MPI_INFO_NULL));
  }

  /// Makes the view of a type at a place of a tile.
  [[nodiscard]] ViewModel place(const TypeModel& type, MPI_Offset at, MPI_Offset extent) {
    const MPI_Aint displacement = at - type.true_lower();
    const int one = 1;
    MPI_Datatype moved = MPI_DATATYPE_NULL;
    ViewModel view;
    SUCCEEDS(MPI_Type_create_struct(1, &one, &displacement, &type.type, &moved));
    SUCCEEDS(MPI_Type_create_resized(moved, 0, extent, &view.filetype));
    SUCCEEDS(MPI_Type_free(&moved));
    SUCCEEDS(MPI_Type_commit(&view.filetype));
    made_.push_back(view.filetype);
    view.tile = bytes_of(type);
    for (MPI_Offset& byte : view.tile) byte += displacement;
    view.extent = extent;
    // An element of the type is an etype, too.
    const bool is_uniform =
        std::ranges::all_of(type.map, [&](const Element& e) { return e.type == type.map[0].type; });
    if (is_uniform && below(2) == 0) {
      view.etype = type.map[0].type;
      view.etype_bytes = type.map[0].bytes;
    }
    return view;
  }

  /// The data of one rank in a round.
  struct Part {
    TypeModel type;
    int count = 0;
    MPI_Offset position = 0;  ///< in bytes
    MPI_Offset bytes = 0;
    std::unique_ptr<TypeMemory> memory;
  };

  /// Draws what a rank moves: whole etypes.
  [[nodiscard]] Part draw_part(const ViewModel& view) {
    Part part;
    const int elements = below(200);
    if (view.etype_bytes == 1) {
      part.type = types_.make(2);
      while (part.type.map.size() > 100) part.type = types_.make(1);
      part.count = below(12);
    } else {
      const std::vector<Element> all(static_cast<std::size_t>(elements), {0, view.etype, view.etype_bytes});
      part.type = types_.relaid(all);
      part.count = 1;
    }
    part.bytes = static_cast<MPI_Offset>(part.type.bytes()) * part.count;
    part.memory = std::make_unique<TypeMemory>(part.type, part.count);
    part.memory->fill(static_cast<unsigned>(random_()));
    return part;
  }

  void write_to_model(const ViewModel& view, Part& part) {
    const std::vector<unsigned char> data = part.memory->data(part.type, part.count);
    for (std::size_t i = 0; i < data.size(); ++i) {
      const std::size_t at = view.offset_of(part.position + static_cast<MPI_Offset>(i));
      if (at >= model_.size()) model_.resize(at + 1, 0);
      model_[at] = data[i];
    }
  }

  [[nodiscard]] std::vector<unsigned char> read_from_model(const ViewModel& view, const Part& part) const {
    std::vector<unsigned char> data;
    for (MPI_Offset i = 0; i < part.bytes; ++i) {
      const std::size_t at = view.offset_of(part.position + i);
      if (at >= model_.size()) break;
      data.push_back(model_[at]);
    }
    return data;
  }

  /// Checks a call of this rank after the model knows of it.
  template <class Call>
  void check_call(bool writes, const ViewModel& view, Part& part, const Call& call) {
    MPI_Status status;
    const FileData data = {part.position / view.etype_bytes, part.memory->address(), part.count,
                           part.type.type};
    if (writes) {
      SUCCEEDS(call(data, &status));
      CHECK(count_of(status, MPI_BYTE) == part.bytes);
      return;
    }
    TypeMemory wanted(*part.memory);
    const std::vector<unsigned char> expected = read_from_model(view, part);
    wanted.place(part.type, part.count, expected);
    SUCCEEDS(call(data, &status));
    CHECK(count_of(status, MPI_BYTE) == static_cast<int>(expected.size()));
    CHECK(part.memory->all() == wanted.all());
  }

  /// Each rank has its own part. Ranks with the same view write one after the other.
  void own_round(bool writes, FileForm form, bool explicit_offset) {
    const bool one_writes = writes && alike_;
    const int writer = below(size_);
    for (int rank = 0; rank < size_; ++rank) {
      const auto index = static_cast<std::size_t>(rank);
      const ViewModel& view = views_[index];
      Part part = draw_part(view);
      if (one_writes && rank != writer) {
        if (!is_collective(form)) continue;
        part.count = 0;
        part.bytes = 0;
      }
      const MPI_Offset drawn = MPI_Offset{below(400)} * view.etype_bytes;
      part.position = explicit_offset ? drawn : pointers_[index];
      if (!explicit_offset) {
        if (below(3) == 0) {
          part.position = drawn;
          if (rank == rank_) SUCCEEDS(MPI_File_seek(file_, drawn / view.etype_bytes, MPI_SEEK_SET));
        }
        const bool at_once = form == FileForm::kBlocking || form == FileForm::kCollective;
        const auto moved =
            !writes && at_once ? static_cast<MPI_Offset>(read_from_model(view, part).size()) : part.bytes;
        pointers_[index] = part.position + moved;
      }
      if (writes) write_to_model(view, part);
      const bool large = below(2) == 0;
      if (rank != rank_) continue;
      check_call(writes, view, part, [&](const FileData& data, MPI_Status* status) {
        return (explicit_offset ? at_offset : at_pointer)(file_, writes, form, large, data, status);
      });
      if (explicit_offset) continue;
      MPI_Offset position = -1;
      SUCCEEDS(MPI_File_get_position(file_, &position));
      // A position within an etype is rounded down.
      CHECK(position == pointers_[index] / view.etype_bytes);
      if (pointers_[index] % view.etype_bytes != 0) SUCCEEDS(MPI_File_seek(file_, position, MPI_SEEK_SET));
    }
    for (std::size_t rank = 0; rank < views_.size(); ++rank)
      pointers_[rank] -= pointers_[rank] % views_[rank].etype_bytes;
  }

  /// The ranks have their parts one behind the other.
  void ordered_round(bool writes, FileForm form) {
    const bool large = below(2) == 0;
    if (below(2) == 0) {
      const MPI_Offset to = below(100);
      SUCCEEDS(MPI_File_seek_shared(file_, to, MPI_SEEK_SET));
      shared_ = to * views_[0].etype_bytes;
    }
    std::vector<Part> parts;
    for (int rank = 0; rank < size_; ++rank) {
      parts.push_back(draw_part(views_[0]));
      parts.back().position = shared_;
      shared_ += parts.back().bytes;
      if (writes) write_to_model(views_[0], parts.back());
    }
    check_call(writes, views_[0], parts[static_cast<std::size_t>(rank_)],
               [&](const FileData& data, MPI_Status* status) {
                 return at_shared_pointer(file_, writes, form, large, data, status);
               });
    MPI_Offset position = -1;
    SUCCEEDS(MPI_File_get_position_shared(file_, &position));
    CHECK(position == shared_ / views_[0].etype_bytes);
  }

  /// The file has the bytes of the model, all of them.
  void compare() {
    if (rank_ == 0) {
      std::vector<unsigned char> bytes(model_.size() + 1);
      const int fd = open(path_.name().c_str(), O_RDONLY);
      const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
      close(fd);
      CHECK(got == static_cast<ssize_t>(model_.size()));
      bytes.resize(model_.size());
      CHECK(bytes == model_);
    }
    SUCCEEDS(MPI_Barrier(MPI_COMM_WORLD));
  }

  const TestFile& path_;
  const int rank_;
  const int size_;
  std::mt19937 random_;
  TypeMaker types_;
  MPI_Info info_ = MPI_INFO_NULL;
  MPI_File file_ = MPI_FILE_NULL;
  bool alike_ = true;  ///< all ranks have the same view
  std::vector<ViewModel> views_;
  std::vector<MPI_Offset> pointers_;
  MPI_Offset shared_ = 0;
  std::vector<unsigned char> model_;
  std::vector<MPI_Datatype> made_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const unsigned seed = test_seed();
  for (unsigned i = 0; i < 12; ++i) {
    const TestFile path("files-random");
    RandomFile(path, seed + i * 7919U).run(16);
    if (failures != 0) std::fprintf(stderr, "file %u of the seed fails\n", i);
  }
  const int code = result();
  MPI_Finalize();
  return code;
}
