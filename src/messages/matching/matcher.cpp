#include "messages/matching/matcher.hpp"

#include <new>

namespace librma {
namespace {

/// A search for one wildcard looks at so many messages before all of them are put into queues.
constexpr int kFirstLook = 16;

}  // namespace

void Matcher::post_with_wildcard(PostedReceive& receive) {
  if (receive.source != kAnySource) {
    any_tag_.add(key(receive.source), receive);
  } else {
    receive.tag != kAnyTag ? any_source_.add(key(receive.tag), receive) : any_.add(0, receive);
  }
  ++wildcards_;
}

void Matcher::replace(PostedReceive& receive, PostedReceive& other) {
  other.stamp = receive.stamp;
  KeyedQueues<PostedReceive, 0>::replace(receive, other);
}

PostedReceive* Matcher::posted_for(int source, int tag) const {
  PostedReceive* first = exact_.first(key(source, tag));
  for (PostedReceive* const other :
       {any_tag_.first(key(source)), any_source_.first(key(tag)), any_.first(0)}) {
    if (other != nullptr && (first == nullptr || other->stamp < first->stamp)) first = other;
  }
  return first;
}

PostedReceive* Matcher::match(int source, int tag) {
  if (wildcards_ == 0) [[likely]] {
    PostedReceive* const exact = exact_.take_first(key(source, tag));
    if (exact != nullptr) add_to(entries_, -1);
    return exact;
  }
  PostedReceive* const first = posted_for(source, tag);
  if (first != nullptr) withdraw(*first);
  return first;
}

void Matcher::withdraw(PostedReceive& receive) {
  add_to(entries_, -1);
  if (receive.source == kAnySource || receive.tag == kAnyTag) --wildcards_;
  if (receive.source != kAnySource) {
    receive.tag != kAnyTag ? exact_.remove(receive) : any_tag_.remove(receive);
  } else {
    receive.tag != kAnyTag ? any_source_.remove(receive) : any_.remove(receive);
  }
}

void Matcher::add(UnexpectedMessage& message) {
  by_both_.add(key(message.source, message.tag), message);
  if (indexed_) [[unlikely]] {
    try {
      add_to_index(message);
    } catch (...) {
      take_from_index(message);
      by_both_.remove(message);
      throw;
    }
  }
  message.before = last_;
  message.after = nullptr;
  (last_ != nullptr ? last_->after : first_) = &message;
  last_ = &message;
  add_to(entries_, 1);
  add_to(messages_, 1);
}

void Matcher::take(UnexpectedMessage& message) {
  add_to(entries_, -1);
  add_to(messages_, -1);
  by_both_.remove(message);
  (message.before != nullptr ? message.before->after : first_) = message.after;
  (message.after != nullptr ? message.after->before : last_) = message.before;
  if (indexed_) [[unlikely]] {
    take_from_index(message);
    indexed_ = first_ != nullptr;
  }
}

UnexpectedMessage* Matcher::find_by_one(int source, int tag) {
  const auto fits = [&](const UnexpectedMessage& message) {
    return source != kAnySource ? message.source == source : message.tag == tag;
  };
  UnexpectedMessage* message = first_;
  int left = kFirstLook;
  while (message != nullptr && left-- > 0 && !fits(*message)) message = message->after;
  if (message == nullptr || fits(*message)) return message;
  if (indexed_ || index())
    return source != kAnySource ? by_source_.first(key(source)) : by_tag_.first(key(tag));
  while (message != nullptr && !fits(*message)) message = message->after;
  return message;
}

bool Matcher::index() noexcept {
  UnexpectedMessage* message = first_;
  try {
    for (; message != nullptr; message = message->after) add_to_index(*message);
  } catch (const std::bad_alloc&) {
    for (; message != nullptr; message = message->before) take_from_index(*message);
    return false;
  }
  indexed_ = true;
  return true;
}

void Matcher::add_to_index(UnexpectedMessage& message) {
  by_source_.add(key(message.source), message);
  by_tag_.add(key(message.tag), message);
}

void Matcher::take_from_index(UnexpectedMessage& message) {
  // A message that could not be added everywhere is in one of the queues only.
  if (message.links[1].queue != nullptr) by_source_.remove(message);
  if (message.links[2].queue != nullptr) by_tag_.remove(message);
}

}  // namespace librma
