// The numbers that stand for objects in Fortran, and the table of predefined objects.

#include "twosided_compat/objects/object.hpp"

#include <mutex>
#include <vector>

namespace librma::mpi {
namespace {

/// The objects that have a number, which is kPredefinedEnd and their place. A program has few: it needs one
/// for each handle that Fortran sees.
struct Numbers {
  std::mutex lock;  // guards the rest
  std::vector<Object*> objects;
  std::vector<int> free;
};

/// Returns the one table. It is never destroyed, because objects may be freed by the program's own
/// destructors.
Numbers& numbers() {
  static Numbers* const kNumbers = new Numbers;
  return *kNumbers;
}

constexpr int kFirst = static_cast<int>(kPredefinedEnd);

}  // namespace

void Object::forget_number() {
  const int number = this->number();
  Numbers& table = numbers();
  const std::lock_guard guard(table.lock);
  table.objects[static_cast<std::size_t>(number - kFirst)] = nullptr;
  table.free.push_back(number);
}

int Object::to_number() {
  if (const int number = this->number(); number != 0) return number;
  Numbers& table = numbers();
  const std::lock_guard guard(table.lock);
  if (const int number = this->number(); number != 0) return number;  // another thread drew it meanwhile
  int number = 0;
  if (table.free.empty()) {
    number = kFirst + static_cast<int>(table.objects.size());
    table.free.reserve(table.objects.size() + 1);  // so that the destructor does not allocate
    table.objects.push_back(this);
  } else {
    number = table.free.back();
    table.free.pop_back();
    table.objects[static_cast<std::size_t>(number - kFirst)] = this;
  }
  number_.store(number, std::memory_order_relaxed);
  return number;
}

Object* Object::from_number(int number) {
  Numbers& table = numbers();
  const std::lock_guard guard(table.lock);
  const auto place = static_cast<std::size_t>(number - kFirst);
  return number >= kFirst && place < table.objects.size() ? table.objects[place] : nullptr;
}

void publish_predefined(Object& object) {
  const auto place = static_cast<std::size_t>(object.to_number());
  predefined_objects[place].store(&object, std::memory_order_release);  // pairs with the load in find()
}

void withdraw_predefined(Object& object) {
  predefined_objects[static_cast<std::size_t>(object.to_number())].store(nullptr, std::memory_order_release);
}

}  // namespace librma::mpi
