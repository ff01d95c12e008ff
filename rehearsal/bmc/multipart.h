#pragma once
// The parts of a multipart/form-data body, read while it comes in: of each part its first bytes,
// its length and its digest, so that a file of any size passes through. Source: RFC 7578, and
// RFC 2046, 5.1.1. No sockets.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/bmc/image_reader.h"

namespace cupel::rehearsal {

struct FormPart {
  std::string name{};
  std::string file_name{};
  std::string content_type{};
  ReceivedImage content{};

  /// The whole of a small part.
  std::string_view text() const { return content.head; }
};

/// The boundary of a multipart/form-data body; nothing where it is none.
std::optional<std::string> boundary_in(std::string_view content_type);

class FormReader {
 public:
  static constexpr std::size_t kMostParts = 16;
  static constexpr std::size_t kMostHeaders = 4096;

  explicit FormReader(std::string_view boundary);
  void take(std::string_view bytes);
  /// Nothing where the last boundary is missing, a part has no name, or there are too many of them.
  std::optional<std::vector<FormPart>> finish();

 private:
  enum class At { preamble, boundary, headers, body_begin, body, end, broken };
  bool step();
  bool find_first();
  bool pass_boundary();
  bool read_headers();
  bool begin_body();
  bool read_body();
  void close_part(std::size_t end);
  bool broken();

  std::string mark_;  // CR, LF, two dashes and the boundary
  std::string waiting_{"\r\n"};
  At at_ = At::preamble;
  std::optional<ImageReader> content_{};
  std::vector<FormPart> parts_{};
};

const FormPart* part_named(const std::vector<FormPart>& parts, std::string_view name);

}  // namespace cupel::rehearsal
