#include "twosided_compat/fortran/text.hpp"

#include <algorithm>
#include <cstring>

namespace librma::mpi_fortran {

std::string trimmed(const char* text, std::size_t length) {
  while (length > 0 && text[length - 1] == ' ') --length;
  return {text, length};
}

std::string stripped(const char* text, std::size_t length) {
  std::string result = trimmed(text, length);
  result.erase(0, result.find_first_not_of(' '));
  return result;
}

TextOut::TextOut(char* out, std::size_t length, int room)
    : out_(out), length_(length), text_(static_cast<std::size_t>(room) + 1, '\0') {
  text_[0] = kUnset;
}

TextOut::~TextOut() {
  if (text_[0] == kUnset) return;
  const std::size_t given = std::min(std::strlen(text_.data()), length_);
  std::copy_n(text_.data(), given, out_);
  std::fill(out_ + given, out_ + length_, ' ');
}

}  // namespace librma::mpi_fortran
