#pragma once
// A playbook read from a text in a test, and files of its own that include each other.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "playbooks/playbook.h"

namespace cupel::playbooks {

struct Read {
  std::optional<Playbook> playbook{};
  std::vector<inventory::Problem> problems{};
  std::string reported() const { return to_string(problems); }
};

inline Read read(std::string_view text, const Arguments& arguments = {}) {
  Read result;
  result.playbook = parse_playbook(text, "book.yaml", result.problems, arguments);
  return result;
}

/// A folder that goes with its test.
class Folder {
 public:
  Folder() {
    std::string made = std::filesystem::temp_directory_path() / "cupel-playbooks-XXXXXX";
    path_ = ::mkdtemp(made.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, std::string_view text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file, std::ios::binary} << text;
    return file.string();
  }
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_{};
};

}  // namespace cupel::playbooks
