#pragma once
// The files of the page, made ready once: bytes, tags and fields of their answers.
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "orchestrator/api/exchange.h"

namespace cupel::api {

/// A file of the page, as it is compiled into the program.
struct StaticFile {
  std::string_view path{};  // "/", "/app-1a2b.js"
  std::string_view type{};  // "text/html; charset=utf-8"
  std::string_view bytes{};
  std::string_view gzip{};  // empty: only as it is
  bool immutable = false;   // its path changes with its bytes
};

class StaticFiles {
 public:
  /// `policy`: the Content-Security-Policy of all of them.
  StaticFiles(std::span<const StaticFile> files, std::string_view policy);

  /// Nothing: none of them is at the path. Bodies are shared by all answers.
  std::optional<Answer> answer(const Request& request) const;

 private:
  struct Form {
    std::shared_ptr<const std::string> body{};  // nullptr: it has no such form
    std::string tag{};
    Answer answer(const Request& request, const Answer& usual) const;
  };
  struct Ready {
    Form plain{}, packed{};
    Answer usual{};  // type and fields
  };
  std::map<std::string, Ready, std::less<>> files_{};
};

/// Whether Accept-Encoding takes gzip. Source: RFC 9110, 12.5.3.
bool accepts_gzip(std::string_view field);

}  // namespace cupel::api
