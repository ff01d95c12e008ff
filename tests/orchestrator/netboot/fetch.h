#pragma once
// What a machine that boots fetches and says, by curl.
#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <string>

namespace cupel::test {

struct Fetched {
  long status = 0;
  std::string head{}, body{};
  std::chrono::microseconds first_byte{0};  // how long it took to come
};

struct Request {
  std::string url{};
  std::string post{};    // a body: by POST; with the method POST it may be empty
  std::string range{};   // "0-99"
  std::string method{};  // another than GET or POST
  std::string ca{};      // a file
  std::string from{};    // the address that it comes from
};

inline std::size_t keep_bytes(char* bytes, std::size_t size, std::size_t count, void* into) {
  static_cast<std::string*>(into)->append(bytes, size * count);
  return size * count;
}

inline Fetched fetch(const Request& request) {
  Fetched fetched;
  const std::unique_ptr<CURL, void (*)(CURL*)> curl{curl_easy_init(), curl_easy_cleanup};
  auto* handle = curl.get();
  curl_easy_setopt(handle, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(handle, CURLOPT_TIMEOUT, 60L);
  curl_easy_setopt(handle, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, keep_bytes);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &fetched.body);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, keep_bytes);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &fetched.head);
  if (!request.post.empty() || request.method == "POST") {
    curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.post.size()));
    curl_easy_setopt(handle, CURLOPT_POSTFIELDS, request.post.c_str());
  }
  if (!request.range.empty()) curl_easy_setopt(handle, CURLOPT_RANGE, request.range.c_str());
  if (request.method == "HEAD")
    curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  else if (!request.method.empty())
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  if (!request.ca.empty()) curl_easy_setopt(handle, CURLOPT_CAINFO, request.ca.c_str());
  if (!request.from.empty()) curl_easy_setopt(handle, CURLOPT_INTERFACE, request.from.c_str());
  if (curl_easy_perform(handle) == CURLE_OK)
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &fetched.status);
  curl_off_t first_byte = 0;
  curl_easy_getinfo(handle, CURLINFO_STARTTRANSFER_TIME_T, &first_byte);
  fetched.first_byte = std::chrono::microseconds{first_byte};
  return fetched;
}

}  // namespace cupel::test
