#pragma once

namespace librma::transport {

/// Calls another function where one loaded library calls a function that it imports, until this object ends.
/// The program and all other libraries are left alone.
class ImportReplacement {
 public:
  /// Does nothing if the library, a handle of dlopen(3), does not import the function, or not by its table of
  /// procedures. `function` has the type of the imported one.
  ImportReplacement(void* library, const char* name, void* function);
  ~ImportReplacement();
  ImportReplacement(const ImportReplacement&) = delete;
  ImportReplacement& operator=(const ImportReplacement&) = delete;

 private:
  void write(void* function);

  void** entry_ = nullptr;  ///< where the library keeps the address; null if nothing is replaced
  void* imported_ = nullptr;
  bool read_only_ = false;  ///< the dynamic linker has made that place so
};

}  // namespace librma::transport
