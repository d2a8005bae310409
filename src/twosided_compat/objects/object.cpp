// The numbers that stand for objects in handles that are integers, and the table of predefined objects.

#include "twosided_compat/objects/object.hpp"

#include <mutex>
#include <new>
#include <vector>

namespace librma::mpi {
namespace {

/// The numbers that were drawn. A program has few: it needs one for each handle that is an integer.
struct Numbers {
  std::mutex lock;  // guards the rest, and changes of numbered_objects
  int next = static_cast<int>(kPredefinedEnd);
  std::vector<int> free;
};

/// Returns the one record. It is never destroyed, because objects may be freed by the program's own
/// destructors.
Numbers& numbers() {
  static Numbers* const kNumbers = new Numbers;
  return *kNumbers;
}

/// Returns where the object with this number stands. The caller holds the lock.
std::atomic<Object*>& place_of_number(int number) {
  const auto place = static_cast<std::size_t>(number);
  auto& part = numbered_objects[place / kNumbersAtOnce];
  NumberedObjects* objects = part.load(std::memory_order_relaxed);
  if (objects == nullptr) {
    objects = new NumberedObjects{};
    part.store(objects, std::memory_order_release);  // pairs with from_number()
  }
  return (*objects)[place % kNumbersAtOnce];
}

}  // namespace

void Object::forget_number() {
  const int number = this->number();
  Numbers& drawn = numbers();
  const std::lock_guard guard(drawn.lock);
  place_of_number(number).store(nullptr, std::memory_order_relaxed);
  drawn.free.push_back(number);
}

int Object::to_number() const {
  if (const int number = this->number(); number != 0) return number;
  Numbers& drawn = numbers();
  const std::lock_guard guard(drawn.lock);
  if (const int number = this->number(); number != 0) return number;  // another thread drew it meanwhile
  int number = drawn.next;
  if (!drawn.free.empty()) {
    number = drawn.free.back();
    drawn.free.pop_back();
  } else {
    if (static_cast<std::size_t>(number) == kNumbersEnd) throw std::bad_alloc();
    const auto used = static_cast<std::size_t>(number) + 1 - kPredefinedEnd;
    if (drawn.free.capacity() < used)
      drawn.free.reserve(2 * used);  // so that the destructor does not allocate
    static_cast<void>(place_of_number(number));
    ++drawn.next;
  }
  __atomic_store_n(&head_.number, number, __ATOMIC_RELAXED);
  // Objects are never constant. Pairs with from_number().
  place_of_number(number).store(const_cast<Object*>(this), std::memory_order_release);
  return number;
}

void publish_predefined(Object& object) {
  const auto place = static_cast<std::size_t>(object.to_number());
  predefined_objects[place].store(&object, std::memory_order_release);  // pairs with the load in find()
}

void withdraw_predefined(Object& object) {
  predefined_objects[static_cast<std::size_t>(object.to_number())].store(nullptr, std::memory_order_release);
}

}  // namespace librma::mpi
