#include "rehearsal/bmc/body_reader.h"

namespace cupel::rehearsal {

BodyReader::BodyReader(std::string_view content_type) {
  const auto boundary = boundary_in(content_type);
  if (boundary)
    form_.emplace(*boundary);
  else
    raw_.emplace();
}

void BodyReader::take(std::string_view bytes) {
  size_ += bytes.size();
  if (form_) form_->take(bytes);
  if (raw_) raw_->take(bytes);
}

ReceivedBody BodyReader::finish() {
  if (form_) return {.is_form = true, .form = form_->finish()};
  return {.raw = raw_->finish()};
}

}  // namespace cupel::rehearsal
