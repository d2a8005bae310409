#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpi.h"

/// Fortran's character strings: an address and a length, with blanks at the end.
namespace librma::mpi_fortran {

/// Returns the text without the blanks at its end.
std::string trimmed(const char* text, std::size_t length);
/// Returns the text without the blanks at both ends.
std::string stripped(const char* text, std::size_t length);

/// A text that a C function reads.
class Text {
 public:
  Text(const char* text, std::size_t length) : text_(trimmed(text, length)) {}
  operator const char*() const { return text_.c_str(); }  // NOLINT(google-explicit-constructor): an argument

 private:
  std::string text_;
};

/// A key or a value of an info object: blanks at both ends do not count.
class InfoText {
 public:
  InfoText(const char* text, std::size_t length) : text_(stripped(text, length)) {}
  operator const char*() const { return text_.c_str(); }  // NOLINT(google-explicit-constructor): as above

 private:
  std::string text_;
};

/// Returns the room in C for a text of `length` characters in Fortran.
inline int room(MPI_Fint length) { return length > 0 ? length + 1 : 1; }

/// A text that a C function writes. The end of the call copies what fits and fills up with blanks, unless the
/// function has written nothing.
class TextOut {
 public:
  /// `room` counts the null at the end.
  TextOut(char* out, std::size_t length, int room);
  TextOut(const TextOut&) = delete;
  TextOut& operator=(const TextOut&) = delete;
  ~TextOut();
  operator char*() { return text_.data(); }  // NOLINT(google-explicit-constructor): as above

 private:
  static constexpr char kUnset = '\xff';  // begins no text
  char* out_;
  std::size_t length_;
  std::vector<char> text_;
};

/// A length that counts the null at the end in C, and not in Fortran. 0 asks for the length alone in both.
class LengthInOut {
 public:
  explicit LengthInOut(MPI_Fint* length) : out_(length), length_(*length > 0 ? *length + 1 : *length) {}
  LengthInOut(const LengthInOut&) = delete;
  LengthInOut& operator=(const LengthInOut&) = delete;
  ~LengthInOut() { *out_ = length_ > 0 ? length_ - 1 : length_; }
  operator int*() { return &length_; }  // NOLINT(google-explicit-constructor): as above

 private:
  MPI_Fint* out_;
  int length_;
};

}  // namespace librma::mpi_fortran
