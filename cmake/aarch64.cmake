# For nodes with Arm processors (GH200, GB200, GB300), built on any Debian machine by clang and Debian's cross libraries:
# libstdc++-12-dev-arm64-cross libc6-dev-arm64-cross llvm-19. The preset is node-aarch64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -fuse-ld=lld)
find_program(CMAKE_STRIP llvm-strip-19 REQUIRED)
