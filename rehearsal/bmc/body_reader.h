#pragma once
// The body of an upload, read while it comes in: the parts of a form, or an image as it is. Whoever
// takes a body piece by piece is a BodySink; what may befall an upload meanwhile is the service's.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rehearsal/bmc/multipart.h"

namespace cupel::rehearsal {

struct ReceivedBody {
  bool is_form = false;
  std::optional<std::vector<FormPart>> form{};  // nothing where the form is malformed
  ReceivedImage raw{};                          // of a body that is no form
};

class BodyReader {
 public:
  explicit BodyReader(std::string_view content_type);
  void take(std::string_view bytes);
  std::size_t size() const { return size_; }
  /// Once, after the last piece.
  ReceivedBody finish();

 private:
  std::optional<FormReader> form_{};
  std::optional<ImageReader> raw_{};
  std::size_t size_ = 0;
};

class BodySink {
 public:
  virtual ~BodySink() = default;
  /// So many bytes at most: more are answered with 413.
  virtual std::size_t limit() const = 0;
  /// False: the connection is cut.
  virtual bool take(std::string_view bytes) = 0;
  /// Once, after the last piece.
  virtual std::shared_ptr<const ReceivedBody> finish() = 0;
};

}  // namespace cupel::rehearsal
