#pragma once

#include <mutex>

// The communicators and windows of this process, so that a wait is reported with their names (rma/waits.h).

namespace librma::mpi {

class Communicator;
class Window;

/// Guards the lists of communicators and windows, and the names and contexts of their members. A thread that
/// reports a long wait tries to take this lock. So a thread that holds it never waits.
[[nodiscard]] std::mutex& places_lock();

/// Keeps an object in the list of its kind as long as it lives.
template <class T>
class ListedPlace {
 public:
  explicit ListedPlace(T& place);
  ~ListedPlace();
  ListedPlace(const ListedPlace&) = delete;
  ListedPlace& operator=(const ListedPlace&) = delete;

  /// The caller holds places_lock().
  template <class Visit>
  static void for_each(const Visit& visit) {
    for (const ListedPlace* listed_place = first; listed_place != nullptr; listed_place = listed_place->next_)
      visit(listed_place->place_);
  }

 private:
  static constinit ListedPlace* first;

  T& place_;
  ListedPlace* next_ = nullptr;
  ListedPlace** before_ = nullptr;  ///< the pointer to this one
};
extern template class ListedPlace<Communicator>;
extern template class ListedPlace<Window>;

}  // namespace librma::mpi
