// A program in which all that cmake/hardening.cmake asks for can be seen: compiled once with it,
// and once without. Prints what lies in a variable that nobody set.
#include <cstdio>
#include <cstring>
#include <utility>

namespace {

constexpr int kFunctions = 32;  // so many places that an indirect call may go to

template <int number>
[[gnu::noinline]] int function(int value) {
  return value * number;
}

template <int... number>
int call(int which, std::integer_sequence<int, number...>) {
  static int (*volatile table[])(int) = {&function<number>...};
  return table[which](which);
}

/// What the next function finds where its own variables will lie.
[[gnu::noinline]] void leave_something_behind() {
  unsigned char bytes[256];
  std::memset(bytes, 0x5a, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

[[gnu::noinline]] unsigned what_nobody_set() {
  unsigned words[16];
  asm volatile("" : : "r"(words) : "memory");
  unsigned any = 0;
  for (const auto word : words) any |= word;
  return any;
}

/// An array beside a string of unknown length: what canaries and FORTIFY are for.
[[gnu::noinline]] std::size_t copied(const char* text) {
  char room[64];
  std::strcpy(room, text);
  asm volatile("" : : "r"(room) : "memory");
  return std::strlen(room);
}

}  // namespace

int main(int argc, char** argv) {
  const auto length = copied(argv[0] + std::strlen(argv[0]));
  const int sum = call(argc % kFunctions, std::make_integer_sequence<int, kFunctions>{});
  leave_something_behind();
  std::printf("%08x\n", what_nobody_set());
  return static_cast<int>(length) * sum;
}
