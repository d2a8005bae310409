#include "messages/matching/matcher.hpp"

namespace rma {
namespace {

std::uint64_t key(int source, int tag) {
  return (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(tag);
}
std::uint64_t key(int value) { return static_cast<std::uint32_t>(value); }

}  // namespace

void Matcher::post(PostedReceive& receive) {
  receive.stamp = next_stamp_++;
  if (receive.source != kAnySource) {
    receive.tag != kAnyTag ? exact_.add(key(receive.source, receive.tag), receive)
                           : any_tag_.add(key(receive.source), receive);
  } else {
    receive.tag != kAnyTag ? any_source_.add(key(receive.tag), receive) : any_.add(0, receive);
  }
  add_to(entries_, 1);
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
  if (any_tag_.empty() && any_source_.empty() && any_.empty()) [[likely]] {
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
  if (receive.source != kAnySource) {
    receive.tag != kAnyTag ? exact_.remove(receive) : any_tag_.remove(receive);
  } else {
    receive.tag != kAnyTag ? any_source_.remove(receive) : any_.remove(receive);
  }
}

void Matcher::add(UnexpectedMessage& message) {
  by_both_.add(key(message.source, message.tag), message);
  add_to(entries_, 1);
  add_to(messages_, 1);
  try {
    by_source_.add(key(message.source), message);
    by_tag_.add(key(message.tag), message);
    arrived_.add(0, message);
  } catch (...) {
    take(message);
    throw;
  }
}

UnexpectedMessage* Matcher::find(int source, int tag) const {
  if (source != kAnySource) {
    return tag != kAnyTag ? by_both_.first(key(source, tag)) : by_source_.first(key(source));
  }
  return tag != kAnyTag ? by_tag_.first(key(tag)) : arrived_.first(0);
}

void Matcher::take(UnexpectedMessage& message) {
  add_to(entries_, -1);
  add_to(messages_, -1);
  // A message that add() could not add everywhere is in some of the queues only.
  if (message.links[0].queue != nullptr) by_both_.remove(message);
  if (message.links[1].queue != nullptr) by_source_.remove(message);
  if (message.links[2].queue != nullptr) by_tag_.remove(message);
  if (message.links[3].queue != nullptr) arrived_.remove(message);
}

}  // namespace rma
