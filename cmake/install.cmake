# Installation: headers, both libraries, pkg-config file, CMake package config.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/esra DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS esra esra_static EXPORT esra
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT esra NAMESPACE esra:: FILE esra-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/esra)
configure_package_config_file(cmake/esra-config.cmake.in esra-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/esra)
write_basic_package_version_file(esra-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/esra-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/esra-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/esra)
# Relative, so that --prefix at install time and a moved folder both keep it true; folders given whole stand as they are.
file(RELATIVE_PATH up_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up_to_prefix ${up_to_prefix})
set(prefix_in_pc "\${pcfiledir}/${up_to_prefix}")
set(libdir_in_pc "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(includedir_in_pc "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(prefix_in_pc "${CMAKE_INSTALL_PREFIX}")
    set(libdir_in_pc "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(includedir_in_pc "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
endif()
configure_file(cmake/esra.pc.in esra.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/esra.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
