#include "twosided_compat/objects/places.hpp"

#include <utility>

namespace librma::mpi {

std::mutex& places_lock() {
  static auto* const kLock = new std::mutex;
  return *kLock;
}

template <class T>
constinit ListedPlace<T>* ListedPlace<T>::first = nullptr;
template <class T>
ListedPlace<T>::ListedPlace(T& place) : place_(place), before_(&first) {
  const std::lock_guard guard(places_lock());
  next_ = std::exchange(first, this);
  if (next_ != nullptr) next_->before_ = &next_;
}
template <class T>
ListedPlace<T>::~ListedPlace() {
  const std::lock_guard guard(places_lock());
  *before_ = next_;
  if (next_ != nullptr) next_->before_ = before_;
}
template class ListedPlace<Communicator>;
template class ListedPlace<Window>;

}  // namespace librma::mpi
