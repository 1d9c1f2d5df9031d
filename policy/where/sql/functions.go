package sql

// functionsAll are functions without effect that most servers know. All of these
// lists hold only what a server brings with it; a function on none of them may be
// anybody's, and is a Maybe.
const functionsAll = `
	abs acos ascii asin atan atan2 avg cast ceil ceiling char char_length character_length coalesce concat
	concat_ws cos cot count cume_dist current_date current_role current_time current_timestamp current_user
	date degrees dense_rank exp extract first_value floor greatest hour isnull lag last_value lead least
	left length ln localtime localtimestamp log log10 log2 lower lpad ltrim max md5 min minute mod month now
	nth_value ntile nullif octet_length overlay percent_rank percentile_cont percentile_disc pi position
	power pow quarter radians rank replace reverse right round row_number rpad rtrim second session_user
	sign sin sqrt stddev stddev_pop stddev_samp string_agg substr substring sum system_user tan
	translate trim trunc upper user var_pop var_samp variance version week year grouping grouping_id
	json_array json_object json_value json_query json_exists json_table json_arrayagg json_objectagg
	st_area st_asgeojson st_astext st_buffer st_centroid st_contains st_crosses st_distance st_dwithin
	st_envelope st_equals st_geomfromtext st_intersection st_intersects st_length st_makepoint st_overlaps
	st_point st_pointfromtext st_setsrid st_simplify st_srid st_touches st_transform st_within st_x st_y`

// functionsMySQL are built-in functions of MySQL 8 and MariaDB (MySQL Reference
// Manual, 14.1). last_insert_id, which sets what it is given, is absent.
const functionsMySQL = `
	adddate addtime aes_decrypt aes_encrypt any_value approx_count_distinct bin bin_to_uuid bit_and
	bit_count bit_length bit_or bit_xor charset coercibility collation compress connection_id conv
	convert convert_tz crc32 curdate curtime database date_add date_format date_sub datediff day dayname
	dayofmonth dayofweek dayofyear default elt export_set extractvalue field find_in_set format
	format_bytes format_pico_time found_rows from_base64 from_days from_unixtime get_format group_concat
	hex if ifnull inet_aton inet_ntoa inet6_aton inet6_ntoa insert instr is_ipv4 is_ipv6 is_uuid
	json_append json_array_append json_array_insert json_compact json_contains json_contains_path
	json_depth json_detailed json_equals json_exists json_extract json_insert json_keys json_length
	json_loose json_merge json_merge_patch json_merge_preserve json_normalize json_overlaps json_pretty
	json_quote json_remove json_replace json_schema_valid json_schema_validation_report json_search
	json_set json_storage_free json_storage_size json_type json_unquote json_valid last_day lcase
	locate make_set makedate maketime microsecond mid monthname name_const oct ord period_add period_diff
	point quote rand random_bytes regexp_instr regexp_like regexp_replace regexp_substr repeat
	roles_graphml row_count schema sec_to_time sha sha1 sha2 soundex space st_distance_sphere
	std str_to_date strcmp subdate substring_index subtime sysdate time time_format time_to_sec timediff
	timestamp timestampadd timestampdiff to_base64 to_days to_seconds truncate ucase uncompress
	uncompressed_length unhex unix_timestamp updatexml utc_date utc_time utc_timestamp uuid uuid_short
	uuid_to_bin validate_password_strength weekday weekofyear weight_string yearweek binary linestring
	polygon multipoint st_geometrytype st_isvalid st_latitude st_longitude st_numpoints mbrcontains mbrwithin`

// functionsSQLite are what pragma_function_list shows as innocuous, apart from
// sqlite_log, and the table-valued functions of pragmas, which exist only for
// those that have no effect (sqlite.org/pragma.html#pragfunc).
const functionsSQLite = `
	acosh asinh atanh changes cosh date datetime format fts5_source_id geopoly_area geopoly_bbox
	geopoly_blob geopoly_ccw geopoly_contains_point geopoly_group_bbox geopoly_json geopoly_overlap
	geopoly_regular geopoly_svg geopoly_within geopoly_xform glob group_concat hex if ifnull iif instr json
	json_array_insert json_array_length json_each json_error_position json_extract json_group_array
	json_group_object json_insert json_patch json_pretty json_quote json_remove json_replace json_set
	json_tree json_type json_valid jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array
	jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set jsonb_each
	jsonb_tree julianday last_insert_rowid like likelihood likely median percentile printf quote random
	randomblob sinh soundex sqlite_compileoption_get sqlite_compileoption_used sqlite_offset
	sqlite_source_id sqlite_version strftime subtype tanh time timediff total total_changes typeof unhex
	unicode unistr unistr_quote unixepoch unlikely zeroblob generate_series raise
	bm25 highlight snippet
	pragma_table_info pragma_table_xinfo pragma_table_list pragma_index_list pragma_index_info
	pragma_index_xinfo pragma_foreign_key_list pragma_foreign_key_check pragma_database_list
	pragma_collation_list pragma_function_list pragma_module_list pragma_pragma_list
	pragma_compile_options pragma_user_version pragma_page_count pragma_page_size`

// functionsSQLServer are built-in functions of SQL Server (Transact-SQL reference,
// "What are the SQL database functions?").
const functionsSQLServer = `
	app_name approx_count_distinct approx_percentile_cont approx_percentile_disc base64_decode
	base64_encode binary_checksum bit_count charindex checksum checksum_agg choose col_length col_name
	columnproperty compress connectionproperty contains containstable convert count_big current_timezone
	current_timezone_id databasepropertyex databaseproperty datalength date_bucket dateadd datediff
	datediff_big datefromparts datename datepart datetime2fromparts datetimefromparts
	datetimeoffsetfromparts datetrunc day db_id db_name decompress difference edge_id_from_parts
	eomonth error_line error_message error_number error_procedure error_severity error_state
	file_id file_idex file_name filegroup_id filegroup_name filegroupproperty fileproperty format
	formatmessage freetext freetexttable fulltextcatalogproperty fulltextserviceproperty
	generate_series get_bit getansinull getdate getutcdate has_dbaccess has_perms_by_name hashbytes
	host_id host_name ident_current ident_incr ident_seed iif index_col indexkey_property indexproperty
	is_member is_rolemember is_srvrolemember isdate isjson isnumeric json_modify
	json_path_exists left_shift len logical_test min_active_rowversion newid nchar object_definition
	object_id object_name object_schema_name objectproperty objectpropertyex openjson original_db_name
	original_login parse parsename patindex permissions quotename rand regexp_count regexp_instr
	regexp_like regexp_matches regexp_replace regexp_split_to_table regexp_substr replicate
	right_shift rowcount_big schema_id schema_name scope_identity serverproperty
	sessionproperty session_context set_bit smalldatetimefromparts soundex space square stats_date stdev
	stdevp str string_escape string_split stuff suser_id suser_name suser_sid suser_sname
	switchoffset sysdatetime sysdatetimeoffset sysutcdatetime textptr textvalid timefromparts
	todatetimeoffset trigger_nestlevel try_cast try_convert try_parse type_id type_name typeproperty
	unicode user_id user_name var varp xact_state xml_schema_namespace`

// qualifiedSQLServer are functions of the schema sys, in which nobody else can
// make one.
const qualifiedSQLServer = `
	sys.dm_db_index_physical_stats sys.dm_exec_cursors sys.dm_exec_query_plan sys.dm_exec_sql_text
	sys.dm_exec_text_query_plan sys.dm_sql_referenced_entities sys.dm_sql_referencing_entities
	sys.dm_exec_describe_first_result_set sys.fn_builtin_permissions sys.fn_helpcollations
	sys.fn_listextendedproperty sys.fn_my_permissions`
