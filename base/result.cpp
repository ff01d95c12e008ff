#include "base/result.h"

namespace cupel {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kCancelled:
      return "cancelled";
    case Code::kTimeout:
      return "timeout";
    case Code::kUnreachable:
      return "unreachable";
    case Code::kBusy:
      return "busy";
    case Code::kRefused:
      return "refused";
    case Code::kUntrusted:
      return "untrusted";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kNotFound:
      return "not-found";
    case Code::kMalformed:
      return "malformed";
    case Code::kNoMeasurement:
      return "no-measurement";
    case Code::kInvalid:
      return "invalid";
    case Code::kStorage:
      return "storage";
    case Code::kConflict:
      return "conflict";
    case Code::kFailed:
      return "failed";
  }
  __builtin_unreachable();
}

}  // namespace cupel
